# Completion of options, their values and ccsynth's commands, for bash and zsh.
# What there is, the tools say themselves. In ~/.bashrc, or in ~/.zshrc behind
# `autoload -U +X bashcompinit && bashcompinit`:
#
#   source .../ccn/tools/completion.sh

# The options of a tool, or of a command of it.
_ccn_options() {
  "$@" --help 2>/dev/null </dev/null |
    sed -nE 's/^  (-[A-Za-z],)?(--[a-z][A-Za-z-]*).*/\2/p'
}

# The values of an option, if there are few: its help lists them in braces, or the
# tool says what it expects.
_ccn_values() {
  local option=$1
  shift
  local listed
  listed=$("$@" --help 2>/dev/null </dev/null |
    sed -nE "s/^  (-[A-Za-z],)?$option [A-Z]+:\{([^}]*)\}.*/\2/p" | tr ',' ' ')
  if [ -z "$listed" ] && [ $# = 1 ]; then
    listed=$("$1" /dev/null "$option=?" 2>&1 </dev/null |
      sed -nE "s/^[a-z]+: error: $option: expected ('.*), found '\?'.*/\1/p" |
      sed -E "s/, | or / /g; s/'//g")
  fi
  echo "$listed"
}

_ccn() {
  [ -n "${ZSH_VERSION-}" ] && setopt local_options ksh_arrays sh_word_split
  local tool=("${COMP_WORDS[0]}") word=${COMP_WORDS[COMP_CWORD]}
  local option=${COMP_WORDS[COMP_CWORD - 1]} prefix='' listed=''
  if [ "${tool[0]##*/}" = ccsynth ] && [ "$COMP_CWORD" -gt 1 ]; then
    tool+=("${COMP_WORDS[1]}")
  fi
  # bash takes --emit=plan for three words, zsh for one.
  case $word in
  =) word='' ;;
  --*=*) option=${word%%=*} prefix=$option= word=${word#*=} ;;
  *) [ "$option" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]} ;;
  esac
  COMPREPLY=()
  case $word in
  -*) listed=$(_ccn_options "${tool[@]}") ;;
  *)
    if [ "${tool[0]##*/}" = ccsynth ] && [ "$COMP_CWORD" = 1 ]; then
      listed=$("${tool[0]}" --help 2>/dev/null </dev/null |
        sed -nE '/^Subcommands:/,$ s/^  ([a-z]+) .*/\1/p')
    elif [ "${option#--}" != "$option" ]; then
      listed=$(_ccn_values "$option" "${tool[@]}")
    fi
    ;;
  esac
  # Where nothing is listed, files are completed.
  [ -z "$listed" ] || COMPREPLY=($(compgen -P "$prefix" -W "$listed" -- "$word"))
}

complete -o default -F _ccn cccompile ccn-format ccrun ccsynth
