// `keywright completion …`: scripts that make a shell complete our command lines. They hold no names, so they do not go
// out of date: at every completion they run `completion candidates`.
import { candidates } from '../candidates.ts'
import { type CommandGroup, command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { writeAll } from '../io.ts'
import { serverNames } from '../server-names.ts'
import { printableLine } from '../terminal-text.ts'

/**
 * The words are read from the line and not from COMP_WORDS, which bash cuts at `=` and `:`. What it cut off before the
 * current word is removed from each candidate again.
 */
const BASH = `# Completion of keywright for bash.
_keywright() {
  local line=\${COMP_LINE:0:COMP_POINT} words found current typed
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local IFS=$'\\n'
  found=($(keywright completion candidates -- "\${words[@]:1}" 2> /dev/null))
  # For bash, = and : end a word: what stands before them is there already.
  current=\${words[\${#words[@]} - 1]}
  typed=\${COMP_WORDS[COMP_CWORD]}
  [[ $typed == [=:] ]] && typed=
  COMPREPLY=("\${found[@]#"\${current%"$typed"}"}")
  [[ \${#COMPREPLY[@]} -gt 0 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace
  return 0
}
complete -o default -F _keywright keywright
`

/** zsh puts a blank behind a name. It puts none (-S '') behind a path that ends in `/`, where more can follow. */
const ZSH = `#compdef keywright
# Completion of keywright for zsh.
_keywright() {
  local -a found
  found=(\${(f)"$(keywright completion candidates -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2> /dev/null)"})
  if (( $#found == 0 )); then
    _files
    return
  fi
  # Behind a folder more can follow.
  compadd -S '' -- \${(M)found:#*/}
  compadd -- \${found:#*/}
}
compdef _keywright keywright
`

/** fish filters what is offered by itself, and offers files beside it. */
const FISH = `# Completion of keywright for fish.
function __keywright_candidates
    set -l words (commandline -opc) (commandline -ct | string collect --allow-empty)
    keywright completion candidates -- $words[2..-1] 2> /dev/null
end
complete -c keywright -a '(__keywright_candidates)'
`

const SHELLS: readonly { name: string; script: string; install: string }[] = [
  { name: 'bash', script: BASH, install: 'Add to ~/.bashrc: source <(keywright completion bash)' },
  { name: 'zsh', script: ZSH, install: 'Add to ~/.zshrc, after compinit: source <(keywright completion zsh)' },
  {
    name: 'fish',
    script: FISH,
    install: 'Add to ~/.config/fish/config.fish: keywright completion fish | source',
  },
]

/** A command for each shell. */
const scripts = SHELLS.map(({ name, script, install }) =>
  command({
    name,
    summary: `Print the completion script for ${name}`,
    usage: '',
    describe: [`${install}.`],
    examples: [`completion ${name}`],
    options: {},
    args: { needed: [], most: 0 },
    run: async ({ io }) => {
      await writeAll(io.stdout, script)
      return 0
    },
  }),
)

/** Fails silently in the scripts, which drop standard error: a prompt is no place for messages. */
const offer = command({
  name: 'candidates',
  summary: 'Print the possible next words; used by the completion scripts',
  usage: '[-- WORD…]',
  describe: [
    'WORD… are the words typed after `keywright`; the last one, which may be empty, is completed. Names of ' +
      'mounts and policies, and names below a path, come from the server if there is a token.',
  ],
  examples: ['completion candidates -- policy re'],
  options: CONNECTION_OPTIONS,
  args: { needed: [], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args, commands }) => {
    const found = await candidates(commands, args, (kind, typed) => serverNames(connect(io, options), kind, typed))
    // Names come from the server. A control character in one could hide what the shell is about to run.
    await writeAll(io.stdout, found.map((each) => `${printableLine(each)}\n`).join(''))
    return 0
  },
})

/** `keywright completion`: the scripts, and the command that they call. */
export const COMPLETION_COMMANDS: CommandGroup = {
  name: 'completion',
  summary: 'Print shell completion scripts',
  members: [...scripts, offer],
}
