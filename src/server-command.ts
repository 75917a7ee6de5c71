// `keywright server`: flags, start, what it prints, signals.
import { DEFAULT_CONFIG, MAX_THREADS, readConfigFile, type ServerConfig } from './config.ts'
import { isLoopback, parseAddress } from './config-listener.ts'
import { ConfigError } from './config-values.ts'
import { SelfTestFailed } from './crypto/self-test.ts'
import { logTo } from './lib/log-writer.ts'
import { nearest } from './lib/nearest.ts'
import { realWorld } from './lib/world.ts'
import { type RunningServer, StartError, startServer } from './server.ts'
import { StorageError } from './storage/contract.ts'

type Flags = {
  help: boolean
  dev: boolean
  config: string | undefined
  data: string | undefined
  listen: string | undefined
  rootToken: string | undefined
  threads: number | undefined
}

const HELP = `Usage: keywright server [options]

  Starts a server. One of -dev and -config is needed; with both, the file's listener, storage and limits count.

  -dev                            Development server: initialises and opens itself, keeps its unseal key beside its
                                  data, listens on loopback only. Never for real secrets.
  -config=FILE                    Configuration, HCL or JSON: listener "tcp", storage "sqlite" or "inmem", limits
  -data=DIR                       Directory of the data (default ./data); instead of storage in the file
  -threads=N                      Threads that serve requests (default: one for each core); one more writes
  -dev-root-token-id=TOKEN        Root token of the development server (VAULT_DEV_ROOT_TOKEN_ID)
  -dev-listen-address=HOST:PORT   Its address, default 127.0.0.1:8200 (VAULT_DEV_LISTEN_ADDRESS)
  -h, -help                       This text

  Flags take one or two dashes, and their value behind "=" or as the next word. KEYWRIGHT_DEV_LISTEN_ADDRESS and
  KEYWRIGHT_DEV_ROOT_TOKEN_ID are read before the names in brackets.
`

const VALUE_FLAGS = ['threads', 'config', 'data', 'dev-root-token-id', 'dev-listen-address'] as const
/** Of the reference's development mode; they change nothing here: no token file is written, no engine is mounted. */
const ACCEPTED_FLAGS = ['dev-no-store-token', 'dev-no-kv']
const KNOWN_FLAGS = [...VALUE_FLAGS, ...ACCEPTED_FLAGS, 'dev', 'help', 'h']

function readFlags(words: readonly string[], env: NodeJS.ProcessEnv): Flags {
  const values = new Map<string, string>()
  const flags: Flags = {
    help: false,
    dev: false,
    config: undefined,
    data: undefined,
    listen: undefined,
    rootToken: undefined,
    threads: undefined,
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    const [name, inline] = splitFlag(word)
    if (name === 'help' || name === 'h') flags.help = true
    else if (name === 'dev') flags.dev = true
    else if (ACCEPTED_FLAGS.includes(name)) continue
    else if ((VALUE_FLAGS as readonly string[]).includes(name)) {
      const value = inline ?? words[++i]
      if (value === undefined || value === '') throw new StartError(`The flag -${name} needs a value`)
      values.set(name, value)
    } else throw new StartError(unknownFlag(word, name))
  }
  flags.config = values.get('config')
  flags.data = values.get('data')
  flags.listen = values.get('dev-listen-address') ?? firstOf(env, 'DEV_LISTEN_ADDRESS')
  flags.threads = threadsIn(values.get('threads'))
  flags.rootToken = values.get('dev-root-token-id') ?? firstOf(env, 'DEV_ROOT_TOKEN_ID')
  return flags
}

function firstOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  for (const prefix of ['KEYWRIGHT_', 'VAULT_', 'BAO_']) {
    const value = env[prefix + name]
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

function splitFlag(word: string): [string, string | undefined] {
  if (!word.startsWith('-')) return [word, undefined]
  const name = word.startsWith('--') ? word.slice(2) : word.slice(1)
  const equals = name.indexOf('=')
  return equals === -1 ? [name, undefined] : [name.slice(0, equals), name.slice(equals + 1)]
}

function unknownFlag(word: string, name: string): string {
  const near = nearest(name, KNOWN_FLAGS)
  const hint = near === undefined ? 'see keywright server -help' : `did you mean -${near}?`
  return `Unknown option "${word}" of keywright server, ${hint}`
}

function configOf(flags: Flags): ServerConfig {
  const file = flags.config === undefined ? {} : readConfigFile(flags.config)
  const listen = flags.listen === undefined ? {} : parseAddress(flags.listen)
  const retention = file.storage?.type === 'sqlite' ? { retention: file.storage.retention } : {}
  const data =
    flags.data === undefined ? {} : { storage: { type: 'sqlite', directory: flags.data, ...retention } as const }
  const threads = flags.threads === undefined ? {} : { threads: flags.threads }
  const config = { ...DEFAULT_CONFIG, ...file, ...listen, ...data, ...threads }
  if (flags.dev && !isLoopback(config.host)) {
    throw new StartError(`The development server listens on loopback only, not on ${config.host}`)
  }
  if (flags.dev && config.seal !== undefined)
    throw new StartError('The development server opens itself: leave out seal "static", or -dev')
  if (flags.rootToken !== undefined && !isTokenText(flags.rootToken)) {
    throw new StartError('The flag -dev-root-token-id must be 1 to 512 printable ASCII characters')
  }
  return config
}

function threadsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const threads = Number(text)
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return threads
  throw new StartError(`The flag -threads must be a number from 1 to ${MAX_THREADS}`)
}

function isTokenText(text: string): boolean {
  return text.length <= 512 && [...text].every((character) => character > ' ' && character <= '~')
}

/** Never returns normally: the process lives until a signal, or ends with a sentence why it could not start. */
export async function runServer(words: readonly string[]): Promise<void> {
  try {
    const flags = readFlags(words, process.env)
    if (flags.help) {
      process.stdout.write(HELP)
      return
    }
    if (!flags.dev && flags.config === undefined)
      throw new StartError('Say -config=FILE, or -dev for a development server')
    await run(configOf(flags), flags)
  } catch (cause) {
    if (!isExplained(cause)) throw cause
    process.stderr.write(`keywright: ${cause.message}\n`)
    process.exitCode = 1
  }
}

function isExplained(cause: unknown): cause is Error {
  return (
    cause instanceof StartError ||
    cause instanceof ConfigError ||
    cause instanceof StorageError ||
    cause instanceof SelfTestFailed
  )
}

const EXIT_FATAL = 74

async function run(config: ServerConfig, flags: Flags): Promise<void> {
  const world = realWorld()
  const log = logTo(process.stderr, world.clock)
  process.stdout.on('error', () => {})
  const onFatal = (reason: string): void => {
    log('error', 'The server cannot go on', { reason })
    process.exit(EXIT_FATAL)
  }
  const development = flags.dev ? { rootToken: flags.rootToken } : undefined
  const starting = startServer({ config, world, log, development, onFatal })
  // Not later: the first thread that serves answers before the last one is there.
  stopOnSignals(starting)
  reloadOnSignal(starting)
  const server = await starting
  process.stdout.write(flags.dev ? developmentBanner(server, config) : `Keywright listens on ${server.address}\n`)
}

/** A signal during the start counts when the server has started; a second one does not wait. */
function stopOnSignals(starting: Promise<RunningServer>): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(1)
    stopping = true
    starting
      .then((server) => server.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** A signal before the server has started finds everything new. */
function reloadOnSignal(starting: Promise<RunningServer>): void {
  process.on('SIGHUP', () => {
    starting.then(
      (server) => server.reload(),
      () => {},
    )
  })
}

function developmentBanner(server: RunningServer, config: ServerConfig): string {
  const where =
    config.storage.type === 'sqlite'
      ? `in ${config.storage.directory}, with the key that opens them`
      : 'in memory, gone when it stops'
  const { unsealKey, rootToken = '' } = server.development ?? {}
  return `Keywright development server: not for real secrets. Its data are ${where}.

    export VAULT_ADDR='${server.address}'
    export VAULT_TOKEN='${rootToken}'

Unseal Key: ${unsealKey ?? 'in the shares that its rekey gave out'}
Root Token: ${rootToken}

Listening on ${server.address}
`
}
