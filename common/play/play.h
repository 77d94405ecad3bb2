/* play.h — the one name that play.so shows. */
#ifndef PLAY_H
#define PLAY_H

/* Begins to listen; the report comes when the program exits. */
__attribute__((visibility("default"))) void bluebar_play(void);

#endif
