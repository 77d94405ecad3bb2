# split.awk — which half a kernel belongs to: constants and structure of the model of time are chosen on the half
# "tuning", and what is said of the model is said of the half "report". half(name) tells, for "family/name".
#
# A name is for tuning where its 32-bit FNV-1a hash is even. The hash multiplies by an odd number after each byte, which
# leaves the last bit alone. So that bit is the offset's, 1, and the last bits of all bytes, by exclusive or.
function half(name,   i, odd) {
    if (!ready_bytes) {
        for (i = 1; i < 256; i++) byte[sprintf("%c", i)] = i
        ready_bytes = 1
    }
    odd = 1
    for (i = 1; i <= length(name); i++) odd += byte[substr(name, i, 1)]
    return odd % 2 ? "report" : "tuning"
}
