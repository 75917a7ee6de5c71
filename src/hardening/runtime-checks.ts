// Checks what the program runs on, and what could change it from outside (B-11, B-13, B-14).
import { runSelfTests, SelfTestFailed } from '../crypto/self-test.ts'
import { own } from '../lib/own.ts'
import { type Check, type Finding, ok, refusing, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'

/** The release of Node.js that the lock file installs (N-60). Older ones are refused. */
export const LEAST_NODE = '26.10.0'
/** The first release with ML-KEM and ML-DSA. */
const LEAST_OPENSSL = '3.5.0'
/** Two equal draws of this size mean a broken generator: by chance they come once in 2^256. */
const DRAW_BYTES = 32

const cryptography: Check = {
  id: 'B-11',
  title: 'Cryptographic self-tests pass',
  group: 'runtime',
  how: 'self-tests, two outputs of the random generator, version of OpenSSL',
  again: false,
  run: ({ world, opensslVersion, isFips }) => {
    try {
      runSelfTests()
    } catch (cause) {
      if (!(cause instanceof SelfTestFailed)) throw cause
      return refusing(cause.message)
    }
    if (world.random.bytes(DRAW_BYTES).equals(world.random.bytes(DRAW_BYTES)))
      return refusing('The random generator repeats itself: do not use this system')
    if (isOlder(opensslVersion, LEAST_OPENSSL))
      return refusing(`OpenSSL ${opensslVersion} is too old, ${LEAST_OPENSSL} is needed: run \`npm ci\``)
    return ok(`All self-tests passed; OpenSSL ${opensslVersion}, FIPS mode ${isFips ? 'on' : 'off'}`)
  },
}

/**
 * Flags of the runtime that look into the process or change the program. A long name also stands
 * for all flags that begin with it.
 */
const FORBIDDEN_FLAGS = [
  '--inspect',
  '--debug',
  '--require',
  '-r',
  '--import',
  '--loader',
  '--experimental-loader',
  '--eval',
  '-e',
  '--cpu-prof',
  '--heap-prof',
  '--heapsnapshot',
  '--prof',
  '--report-on',
  '--report-uncaught-exception',
  '--report-signal',
  '--diagnostic-dir',
  '--tls-keylog',
  '--trace-tls',
  '--openssl-config',
  '--env-file',
]
/** True if the flag is one of the forbidden ones; short names are compared as a whole. */
const isForbidden = (flag: string): boolean =>
  FORBIDDEN_FLAGS.some((name) => (name.startsWith('--') ? flag.startsWith(name) : flag === name))

type Rule = { readonly name: string; readonly verdict: 'warn' | 'refuse'; readonly why: string }

const VARIABLES: readonly Rule[] = [
  { name: 'NODE_DEBUG', verdict: 'refuse', why: 'writes request data to the log' },
  { name: 'NODE_DEBUG_NATIVE', verdict: 'refuse', why: 'writes request data to the log' },
  { name: 'NODE_V8_COVERAGE', verdict: 'refuse', why: 'writes data about the program to a directory' },
  { name: 'NODE_REDIRECT_WARNINGS', verdict: 'warn', why: 'writes warnings to a file' },
  { name: 'SSLKEYLOGFILE', verdict: 'refuse', why: 'writes the keys of TLS connections to a file' },
  { name: 'OPENSSL_CONF', verdict: 'refuse', why: 'can replace cryptographic algorithms' },
  { name: 'OPENSSL_MODULES', verdict: 'refuse', why: 'loads native code' },
  { name: 'LD_PRELOAD', verdict: 'warn', why: 'loads native code' },
  { name: 'LD_AUDIT', verdict: 'warn', why: 'loads native code' },
  { name: 'LD_LIBRARY_PATH', verdict: 'warn', why: 'changes which native code is loaded' },
  { name: 'NODE_EXTRA_CA_CERTS', verdict: 'warn', why: 'adds CAs that outgoing connections trust' },
  { name: 'NODE_USE_ENV_PROXY', verdict: 'warn', why: 'sends outgoing connections through a proxy' },
]

const surroundings: Check = {
  id: 'B-13',
  title: 'Nothing alters the program',
  group: 'runtime',
  how: 'runtime flags, NODE_OPTIONS and other environment variables',
  again: true,
  run: (machine) => {
    const { env, flags } = machine
    const inOptions = (env.NODE_OPTIONS ?? '').split(' ').filter((word) => word !== '')
    const findings: Finding[] = [
      ...flags.filter(isForbidden).map((flag) => refusing(`The runtime was given ${nameOf(flag)}: leave it out`)),
      ...inOptions
        .filter(isForbidden)
        .map((flag) => refusing(`NODE_OPTIONS holds ${nameOf(flag)}: unset it for the server`)),
      ...VARIABLES.filter(({ name }) => (own(env, name) ?? '') !== '').map(({ name, verdict, why }) => ({
        verdict,
        sentence: `${name} is set, which ${why}: unset it for the server`,
      })),
    ]
    if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
      findings.push(
        refusing('NODE_TLS_REJECT_UNAUTHORIZED is 0, which disables certificate checks: unset it for the server'),
      )
    if (inOptions.length > 0 && !inOptions.some(isForbidden))
      findings.push(warn('NODE_OPTIONS changes the runtime: unset it for the server'))
    return findings.length === 0 ? ok('No environment variable or flag does') : worst(findings)
  },
}

/** Returns the flag without its value, which may be a private path. */
const nameOf = (flag: string): string => flag.split('=')[0] ?? flag

/** Flags that every server is started with, as in bin/runtime.flags; a test holds the two together. */
export const HARDENING_FLAGS = [
  '--disable-proto=delete',
  '--disallow-code-generation-from-strings',
  '--no-addons',
  '--disable-sigusr1',
  '--report-exclude-env',
  '--unhandled-rejections=strict',
]

const version: Check = {
  id: 'B-14',
  title: 'The runtime is current and hardened',
  group: 'runtime',
  how: 'version and flags of the runtime',
  again: true,
  run: (machine) => {
    const { nodeVersion } = machine
    if (isOlder(nodeVersion, LEAST_NODE))
      return refusing(
        `Node.js ${nodeVersion} is too old, ${LEAST_NODE} is needed: start with bin/keywright after \`npm ci\``,
      )
    const missing = missingFlags(machine)
    if (missing.length === 0) return ok(`Node.js ${nodeVersion}, with all hardening flags`)
    return warn(`The runtime was started without ${missing.join(', ')}: start with bin/keywright`)
  },
}

function missingFlags({ flags, env }: Machine): string[] {
  const given = [...flags, ...(env.NODE_OPTIONS ?? '').split(' ')]
  return HARDENING_FLAGS.filter((flag) => !given.includes(flag))
}

/** Compares versions number by number; whatever follows a "-" or "+" does not count. */
function isOlder(version: string, least: string): boolean {
  const [have, want] = [version, least].map((text) => (text.split(/[-+]/)[0] ?? '').split('.').map(Number))
  for (let at = 0; at < (want?.length ?? 0); at++) {
    const [a, b] = [have?.[at] ?? 0, want?.[at] ?? 0]
    if (a !== b) return a < b
  }
  return false
}

/** B-11, B-13 and B-14, for `CHECKS` in report.ts. */
export const RUNTIME_CHECKS: readonly Check[] = [cryptography, surroundings, version]
