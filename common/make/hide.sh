#!/bin/sh
# hide.sh COMMAND...: runs a command that cannot see the solutions, the tests and what is built of them, as far as this
# machine lets a user have a view of the files of its own (unshare of util-linux). The compiler reads a submission so:
# the gate finds what a submission includes or embeds, but a compilation that fails may tell of a file byte by byte.
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell is to expand it
    exec unshare -rm sh -c 'for d in solutions tests "$B"/reference "$B"/ladder; do [ ! -d "$d" ] || mount -t tmpfs none "$d" || exit 1; done; exec "$@"' hide "$@"
fi
exec "$@"
