# report.awk — from a report of SimGPU (SIMGPU_REPORT) to the table of ncu.awk: a line a launch.
#
#   awk -v metrics=M1,M2,... -f report.awk REPORT
#
# A mark has the kernel's name in the list; its launches follow. SimGPU counts atomics and reductions together, local
# loads and stores, and shared stores and atomics: these stand where ncu has its first of the two, and the second is 0.
BEGIN {
    n = split(metrics, wanted, ",")
    other["launch__registers_per_thread"] = "registers"
    other["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = "l1tex__t_sectors_pipe_lsu_mem_local.sum"
    zero["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"] = 1
    zero["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"] = 1
    zero["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"] = zero["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] = 1
}
function value(field,   at) {
    at = index($0, "\"" field "\":")
    return at ? substr($0, at + length(field) + 3) + 0 : "n/a"
}
function text(field,   at, rest) {
    at = index($0, "\"" field "\":\"")
    rest = substr($0, at + length(field) + 4)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function shape(field,   at, rest) {
    at = index($0, "\"" field "\":[")
    rest = substr($0, at + length(field) + 4)
    rest = substr(rest, 1, index(rest, "]") - 1)
    gsub(/,/, ", ", rest)
    return "(" rest ")"
}
FNR == 1 { mark = "" }
/^{"kind":"mark"/ { mark = text("name"); launch = 0; next }
/^{"kind":"launch"/ && mark {
    sub(/,"lines":.*/, "")
    line = "virtual\t" mark "\t" ++launch "\t" text("name") "\t" shape("grid") "\t" shape("block")
    for (k = 1; k <= n; k++) {
        m = wanted[k]
        line = line "\t" (m in zero ? 0 : m == "gpu__time_duration.sum" ? value("duration_ns") : value(m in other ? other[m] : m))
    }
    print line
}
