const char *said();
