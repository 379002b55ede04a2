# complete.bash SOURCE TOOL WORDS...: what bash would offer for the last word.
set -eu
source "$1/tools/completion.sh"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMPREPLY=()
_ccn
echo "found: ${COMPREPLY[*]-}"
