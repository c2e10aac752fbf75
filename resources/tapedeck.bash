# Completion of tapedeck for bash. It asks the program for its commands, options and examples, so
# it cannot fall behind.
_tapedeck() {
  local program=$1 word=$2 command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="--help --version $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')"
  elif [[ $word == -* ]]; then
    words=$("$program" "$command" --help | grep -o -e '--[a-z][a-z-]*')
  elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = --at ]; then
    words=$("$program" "$command" --help | sed -n 's/.*--at=WHEN .*first \(.*\) (default.*/\1/p' | sed 's/,\| or//g')
  elif [ "$command" = run ]; then
    words=$("$program" examples | sed 's/ .*//')
  elif [ "$command" = schema ]; then
    words=$("$program" schema | sed 's/ .*//')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [ "$COMP_CWORD" -eq 1 ] || [[ $word == -* ]] || compopt -o default
} 2>/dev/null
complete -F _tapedeck tapedeck
