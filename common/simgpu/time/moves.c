/* moves.c — what copies and memsets do to memory and to L2. See moves.h. */
#include "moves.h"
#include "price.h"

#include <string.h>

/* Returns the host address of a row of one end of a copy. */
static uint8_t *row_at(exec_device *any, const time_copy *c, const time_place *at, uint64_t row) {
    uint64_t address = time_row(c, at, row);
    const void *p = (const void *)(uintptr_t)address;
    return exec_mem_in_window(p) ? exec_mem_host(any, address) : (uint8_t *)(uintptr_t)address;
}

static void fill_row(exec_device *any, const time_copy *c, uint64_t row) {
    uint8_t *to = row_at(any, c, &c->to, row);
    const uint32_t value = (uint32_t)c->value;
    const uint64_t address = time_row(c, &c->to, row);
    if (c->element < 2 && exec_mem_in_window((void *)(uintptr_t)address)) {
        exec_mem_fill(exec_mem_owner(any, address), address, (uint8_t)value, c->width);
        return;
    }
    if (c->element < 2) {
        memset(to, c->value, c->width);
        return;
    }
    for (uint64_t at = 0; at + c->element <= c->width; at += c->element) memcpy(to + at, &value, c->element);
}

void time_moves_stage(exec_device *any, const time_command *command, void *buffer) {
    const time_copy *c = &command->is.copy;
    for (uint64_t row = 0; row < time_rows(c); row++)
        memcpy((uint8_t *)buffer + row * c->width, row_at(any, c, &c->from, row), c->width);
}

void time_moves(exec_device *any, const time_command *command, const void *staged) {
    const time_copy *c = &command->is.copy;
    if (c->width == 0) return;
    for (uint64_t row = 0; row < time_rows(c); row++) {
        uint8_t *to = row_at(any, c, &c->to, row);
        if (command->kind == TIME_MEMSET)
            fill_row(any, c, row);
        else if (staged)
            memcpy(to, (const uint8_t *)staged + row * c->width, c->width);
        else
            memmove(to, row_at(any, c, &c->from, row), c->width);
    }
}

/* A row of one end. Copy engines read DRAM, or what L2 has of it, and leave nothing there. */
static uint64_t pass_l2(exec_device *any, const time_command *command, const time_place *at, uint64_t row,
                        bool written) {
    const time_copy *c = &command->is.copy;
    uint64_t address = time_row(c, at, row);
    enum exec_l2_copy what = !time_on_sms(command) ? EXEC_L2_ENGINE : written ? EXEC_L2_WRITE : EXEC_L2_READ;
    if (!exec_mem_in_window((void *)(uintptr_t)address) || (what == EXEC_L2_ENGINE && !written)) return 0;
    return exec_l2_copies(exec_mem_owner(any, address), address, c->width, what);
}

uint64_t time_moves_l2(exec_device *any, const time_command *command) {
    const time_copy *c = &command->is.copy;
    uint64_t bytes = 0;
    if (c->width == 0) return 0;
    for (uint64_t row = 0; row < time_rows(c); row++) {
        if (command->kind == TIME_COPY) bytes += pass_l2(any, command, &c->from, row, false);
        bytes += pass_l2(any, command, &c->to, row, true);
    }
    return bytes;
}
