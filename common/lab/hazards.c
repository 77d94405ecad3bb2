/* hazards.c — see hazards.h. */
#include "hazards.h"
#include "usage.h"

static const char *next_of(const struct simgpu_finding *f, const char *race, const lab_hazard_words *words) {
    switch (f->kind) {
    case SIMGPU_RACE: return race;
    case SIMGPU_UNINITIALISED:
        return f->space == SIMGPU_DEVICE_MEMORY ? words->unwritten_memory : words->unwritten_shared;
    case SIMGPU_STREAM_ORDER:
        return words->stream_order ? words->stream_order
                                   : "start both on one stream: commands of one stream run in their order";
    case SIMGPU_IN_FLIGHT:
        return words->in_flight ? words->in_flight
                                : "wait for the copy before the host touches its memory (cudaStreamSynchronize)";
    case SIMGPU_BARRIER_SKIPPED:
    case SIMGPU_BARRIER_EXITED:
        if (f->kind == SIMGPU_BARRIER_EXITED && words->exited) return words->exited;
        return words->skipped ? words->skipped
                              : "move the __syncthreads() out of the condition: every thread of the block must come to "
                                "it";
    }
    return NULL;
}

void lab_advise_on_hazard(lab_verdict *v, const struct simgpu_finding *f, const char *race,
                          const lab_hazard_words *words) {
    const char *next = next_of(f, race, words);
    char what[512];
    v->status = LAB_FAIL;
    v->hint = "races";
    lab_blame_place(v, &f->side[0].at);
    LAB_SAY(v->why, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    if (f->kind == SIMGPU_BARRIER_EXITED && f->side[1].at.file) {
        lab_blame_place(v, &f->side[1].at);
        LAB_SAY(v->why, "barrier: some threads of the block end here; others wait at the __syncthreads() in line %d",
                (int)f->side[0].at.line);
    }
    if (next) LAB_SAY(v->next, "%s", next);
}

const struct simgpu_finding *lab_first_hazard(const lab_usage *u) {
    /* What a thread that left should have fetched is missed by others: the return comes before its effects. */
    const struct simgpu_finding *f = lab_finding_of(u, SIMGPU_BARRIER_SKIPPED);
    if (!f) f = lab_finding_of(u, SIMGPU_BARRIER_EXITED);
    if (!f) f = lab_finding_of(u, SIMGPU_RACE);
    return f ? f : lab_finding(u);
}

bool lab_both_write(const struct simgpu_finding *f) {
    return f->side[0].at.did != SIMGPU_DID_READ && f->side[1].at.did != SIMGPU_DID_READ;
}

void lab_refuse_luck(lab_verdict *v, const lab_usage *u) {
    for (int i = 0; i < u->nevents && lab_passed(v); i++) {
        const struct simgpu_finding *f = &u->events[i].is.finding;
        if (u->events[i].kind != SIMGPU_FINDING || f->kind != SIMGPU_RACE || f->rival != SIMGPU_OTHER_BLOCK) continue;
        lab_fail(v, "every element was right, this time: two blocks race for a place, and blocks run in any order");
        lab_blame_place(v, &f->side[0].at);
        v->hint = "races";
        LAB_SAY(v->next, "do what the row 'races' says");
    }
}

void lab_pass_races(lab_verdict *v, const lab_verdict *correct, bool alive, const char *failed) {
    if (lab_passed(correct))
        lab_pass(v);
    else
        lab_unmeasured(v, alive ? "no race was found; judged once 'correct' is full" : failed);
}

bool lab_fail_for_hazard(lab_verdict *v, const char *stretch, lab_hazard_advice advise) {
    lab_usage u = lab_usage_if_any(stretch);
    const bool found = lab_finding(&u) != NULL;
    if (found) {
        v->status = LAB_FAIL;
        advise(v, &u);
    }
    lab_usage_free(&u);
    return found;
}

void lab_grade_races(lab_verdict *v, lab_verdict *correct, const char *stretch, bool alive, const char *failed,
                     lab_hazard_advice advise) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card cannot find races; the sim lane can");
    lab_usage u = lab_usage_of(stretch);
    lab_refuse_luck(correct, &u);
    lab_usage_free(&u);
    if (!lab_fail_for_hazard(v, stretch, advise)) lab_pass_races(v, correct, alive, failed);
}
