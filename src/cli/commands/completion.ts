// `keywright completion …`: what makes a shell complete our command lines. The scripts ask this program, which knows.
import { candidates } from '../candidates.ts'
import { type CommandGroup, command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { writeAll } from '../io.ts'
import { serverNames } from '../server-names.ts'
import { printableLine } from '../terminal-text.ts'

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

const FISH = `# Completion of keywright for fish.
function __keywright_candidates
    set -l words (commandline -opc) (commandline -ct | string collect --allow-empty)
    keywright completion candidates -- $words[2..-1] 2> /dev/null
end
complete -c keywright -a '(__keywright_candidates)'
`

const SHELLS: readonly { name: string; script: string; install: string }[] = [
  { name: 'bash', script: BASH, install: 'Into ~/.bashrc: source <(keywright completion bash)' },
  { name: 'zsh', script: ZSH, install: 'Into ~/.zshrc, behind compinit: source <(keywright completion zsh)' },
  {
    name: 'fish',
    script: FISH,
    install: 'Into ~/.config/fish/config.fish: keywright completion fish | source',
  },
]

const scripts = SHELLS.map(({ name, script, install }) =>
  command({
    name,
    summary: `Print the script for ${name}`,
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

const offer = command({
  name: 'candidates',
  summary: 'Print what could come next, for the scripts',
  usage: '[-- WORD…]',
  describe: [
    'The words are those typed behind `keywright`; the last one, which may be empty, is completed. Names of mounts, ' +
      'policies and what is below a path are asked of the server where a token is there.',
  ],
  examples: ['completion candidates -- policy re'],
  options: CONNECTION_OPTIONS,
  args: { needed: [], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args, commands }) => {
    const found = await candidates(commands, args, (kind, typed) => serverNames(connect(io, options), kind, typed))
    // The shell would run what a control character hides.
    await writeAll(io.stdout, found.map((each) => `${printableLine(each)}\n`).join(''))
    return 0
  },
})

export const COMPLETION_COMMANDS: CommandGroup = {
  name: 'completion',
  summary: 'Make the shell complete commands, options and names',
  members: [...scripts, offer],
}
