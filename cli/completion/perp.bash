# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
#
# bash completion of perp, using `perp complete`.
_perp() {
    local line word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            while IFS= read -r line; do
                COMPREPLY+=("$line")
            done < <(compgen -f -- "$word")
        elif [[ $line == "$word"* ]]; then
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -F _perp perp
