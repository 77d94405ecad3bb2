/* special.c — the names of special registers (PTX ISA chapter 10), those that the parser knows. */
#include "parse.h"

#include <string.h>

static const struct {
    const char *name;
    enum ptx_special special;
} special_names[] = {
    {"%tid.x", SREG_tid_x},
    {"%tid.y", SREG_tid_y},
    {"%tid.z", SREG_tid_z},
    {"%ntid.x", SREG_ntid_x},
    {"%ntid.y", SREG_ntid_y},
    {"%ntid.z", SREG_ntid_z},
    {"%ctaid.x", SREG_ctaid_x},
    {"%ctaid.y", SREG_ctaid_y},
    {"%ctaid.z", SREG_ctaid_z},
    {"%nctaid.x", SREG_nctaid_x},
    {"%nctaid.y", SREG_nctaid_y},
    {"%nctaid.z", SREG_nctaid_z},
    {"%laneid", SREG_laneid},
    {"%warpid", SREG_warpid},
    {"%nwarpid", SREG_nwarpid},
    {"%smid", SREG_smid},
    {"%nsmid", SREG_nsmid},
    {"%gridid", SREG_gridid},
    {"%lanemask_eq", SREG_lanemask_eq},
    {"%lanemask_le", SREG_lanemask_le},
    {"%lanemask_lt", SREG_lanemask_lt},
    {"%lanemask_ge", SREG_lanemask_ge},
    {"%lanemask_gt", SREG_lanemask_gt},
    {"%dynamic_smem_size", SREG_dynamic_smem_size},
    {"%total_smem_size", SREG_total_smem_size},
    {"%envreg1", SREG_envreg1},
    {"%envreg2", SREG_envreg2},
    {"%clock", SREG_clock},
    {"%clock_hi", SREG_clock_hi},
    {"%clock64", SREG_clock64},
    {"%globaltimer", SREG_globaltimer},
    {"%tid.w", SREG_zero},
    {"%ntid.w", SREG_zero},
    {"%ctaid.w", SREG_zero},
};

bool ptx_special_named(const char *name, enum ptx_special *special) {
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++)
        if (strcmp(special_names[i].name, name) == 0) {
            *special = special_names[i].special;
            return true;
        }
    return false;
}
