// Things that no file may hold, one row for each rule: the static bans of threats part 9 that need no types, and the
// habits of this project. biome.json decides two more of them: Z-13 (floating promises) and Z-16 (`any`, `!`).
import { STORAGE_DRIVERS } from '../src/storage/drivers.ts'
import {
  anyOf,
  anywhere,
  code,
  comments,
  everywhere,
  importsOf,
  inProgram,
  type KnownLookUps,
  nestedRepetition,
  type Rule,
  stringWithoutReason,
} from './rule.ts'
import { isExactTest, isTest } from './tree.ts'

/** Z-06: files that may parse JSON. The parser has no limits, and its errors quote the input (threats N-06, N-08). */
const JSON_PARSERS = {
  'src/lib/json.ts': 'the bounded parser that the other rooms call',
  'src/lib/hcl.ts': 'configuration and policies in the JSON form',
  'src/cli/': 'the client, on answers of its own server',
  'src/client/error-messages.ts': 'the library, on answers of its own server',
}
/** Files that may read and write stored JSON besides the codec of records. */
const JSON_WITHOUT_A_RECORD = {
  'src/lib/json.ts': 'the parser that it calls',
  'src/storage/stored-record.ts': 'the codec',
  'src/audit/whole-lines.ts': 'pieces of a log, of which most are no whole line and none is a record',
}
/** Z-09: rooms that may touch files. The helpers of node:fs sync nothing and choose open modes (threats N-43). */
const FILE_USERS = {
  'src/storage/': 'the store itself',
  'src/audit/': 'the file device',
  'src/hardening/': 'looks at modes and at /proc',
  'src/assembly/host-facts.ts': 'what the kernel tells of the machine',
  'src/offline/diagnosis.ts': 'looks whether there is one',
  'src/config/files.ts': 'the configuration, read at start and when it is reloaded',
  'src/process/tls-files.ts': 'certificates and keys, the same',
  'src/process/authority-files.ts': 'certificates that a primary is trusted by, which are only read',
  'src/assembly/cloud-dependencies.ts': 'the certificates that those of a cloud lead to',
  'src/assembly/cloud-token-file.ts': 'a token that workload identity leaves there, which is only read',
  'src/process/pid-file.ts': 'the id of the process',
  'src/threads/thread-priority.ts': 'asks for the id of its thread',
  'src/compile-cache.js': 'makes the directory of compiled code, and looks whose it is',
  'src/http/unix-socket.ts': 'the file that stands for a socket',
  'src/assembly/development.ts': 'the key of the development server',
  'src/telemetry/process-figures.ts': 'counts the descriptors of its own process',
  'src/assembly/static-seal.ts': 'the key that opens the server, read when it is needed',
  'src/main.ts': 'assembles the rooms',
  'src/cli/': 'the client reads and writes its own files',
}
const CLOCKS = {
  'src/lib/world.ts': 'the clock that is handed in',
  'src/main.ts': 'assembles the rooms',
  'src/cli/': 'a client is not simulated',
}
const YIELDERS = {
  'src/lib/world.ts': 'the ticks that are handed in',
  'src/threads/slow-worker.ts':
    'lanes are read between two jobs: no simulation runs this thread, there jobs are done in place',
}

const TIMER_MODULES = ['node:timers', 'node:timers/promises', 'timers', 'timers/promises']
const CRYPTO_WORK =
  'createCipheriv createDecipheriv createHash createHmac createMac createSign createVerify hash sign verify hkdf ' +
  'hkdfSync pbkdf2 pbkdf2Sync scrypt scryptSync argon2 argon2Sync publicEncrypt publicDecrypt privateEncrypt ' +
  'privateDecrypt diffieHellman createDiffieHellman createECDH encapsulate decapsulate webcrypto subtle'
const CRYPTO_RANDOM = 'randomBytes randomFill randomFillSync randomInt randomUUID randomUUIDv7 getRandomValues'

/** Names of the kinds of storage, and of the file of the one that has one. */
const STORAGE_NAMES = new RegExp(`\\b(?:${STORAGE_DRIVERS.map(({ type }) => type).join('|')}|keywright\\.db)\\b`, 'gi')

const SERVER_STARTERS = ['startServerProcess', 'startConfigured', 'watchServer', 'spawnKeywright']
/** Fixtures that start servers with threads or processes, look into those, or make disk and network misbehave. */
const PROOF_FIXTURES = new RegExp(
  `/fixtures/(?:${[
    'attack-processes',
    'attacker',
    'held-commit',
    'process-figures',
    'process-memory',
    'small-disk',
    'steady-caller',
    'strace',
    'threaded-server',
  ].join('|')})\\.ts$|/proofs/`,
)

/** Z-07: look-ups that look-ups.ts finds, and that are safe. */
export const KNOWN_LOOK_UPS: KnownLookUps = {
  'src/api/fields.ts': {
    'args[name]': 'names that the endpoint declares',
    'result[name]': 'names of the fields of an item, of which a batch has very many',
  },
  'src/api/router.ts': {
    'path[parameters[i] as string]': 'names that the endpoint declares',
    'path[segment.name]': 'the same',
  },
  'src/audit/redactor.ts': { 'copy[name]': 'is written, and __proto__ is told apart' },
  'src/api/openapi.ts': { 'paths[path]': 'begins with a slash' },
  'src/lib/member-kinds.ts': {
    'value[name]': 'names that the definition declares, and none that all objects have',
    'result[name]': 'the same',
  },
  'src/rpc/parcel.ts': {
    'copy[name]': 'is written: the names of a type of the program',
    'value[name]': 'own names of the object itself',
  },
  'src/client/path.ts': { 'rest[name]': 'is removed from a copy' },
}

/** Words in names that meant many things; docs/glossary.md has one word for each. */
const RETIRED_WORDS =
  /\b(?:\w*(?:[hH]ouse|Surroundings|PATIENCE|Desk|(?<![iI]n)Flight)s?|\w*[a-z]Turns?|[A-Z][a-z]\w*(?:Place|Look))\b/g

/** The rules. Each has a case in tidy.test.ts, in this order. */
export const RULES: readonly Rule[] = [
  {
    id: 'Z-01',
    message:
      'only src/crypto makes ciphers, hashes and signatures, with fixed lengths of tag and nonce: call what it exports',
    applies: inProgram,
    find: anyOf(
      importsOf(['node:crypto'], CRYPTO_WORK.split(' ')),
      code(/\bcreate(?:Cipheriv|Decipheriv|Hash|Hmac|Mac|Sign|Verify)\b|(?<![.\w$])(?:globalThis\.)?crypto\.subtle\b/g),
    ),
    except: { 'src/crypto/': 'the room for it' },
  },
  {
    id: 'Z-02',
    message: 'the time is handed in, so that a run can be repeated: take the Clock of src/lib/world.ts',
    applies: inProgram,
    find: anyOf(
      code(/(?<![.\w$])(?:Date\.now|performance\.now|process\.hrtime|Temporal\.Now)\b/g),
      code(/(?<![.\w$])Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()/g),
    ),
    except: CLOCKS,
  },
  {
    id: 'Z-02',
    message: 'Math.random can be guessed: take the Random of src/lib/world.ts',
    applies: inProgram,
    find: code(/(?<![.\w$])Math\.random\b/g),
    except: {},
  },
  {
    id: 'Z-02',
    message: 'randomness is handed in, so that a run can be repeated: take the Random of src/lib/world.ts',
    applies: inProgram,
    find: anyOf(
      importsOf(['node:crypto'], CRYPTO_RANDOM.split(' '), { whole: false }),
      code(/(?<![.\w$])(?:globalThis\.)?crypto\.(?:getRandomValues|random\w+)\b/g),
    ),
    except: { 'src/lib/world.ts': 'the generator that is handed in', 'src/crypto/': 'nonces and key generation' },
  },
  {
    id: 'Z-04',
    message: 'the URL parser folds dots, escapes and backslashes (threats N-12): read the raw target of the request',
    applies: (path) => inProgram(path) && /^src\/(?:http|core|api)\//.test(path),
    find: code(/(?<![.\w$])(?:new\s+URL\s*\(|URL\.(?:parse|canParse)\b)/g),
    except: {},
  },
  {
    id: 'Z-04',
    message: 'url.parse guesses hosts: use new URL on addresses that an operator configured',
    applies: inProgram,
    find: anyOf(importsOf(['node:url', 'url'], ['parse', 'resolve']), code(/(?<![.\w$])url\.parse\b/g)),
    except: {},
  },
  {
    id: 'Z-04',
    message:
      'a second decodeURIComponent in a file decodes twice sooner or later: decode in one function and call that',
    applies: inProgram,
    find: (file) => code(/\bdecodeURIComponent\b/g)(file).slice(1),
    except: {},
  },
  {
    id: 'Z-05',
    message: 'an expression that is built can be made slow (threats N-31): write a literal or a linear scanner',
    applies: inProgram,
    find: code(/(?<![.\w$])(?:globalThis\.)?RegExp\s*\(/g),
    except: {},
  },
  {
    id: 'Z-05',
    message: 'a repetition inside a repetition backtracks without end (threats N-31): write a linear scanner',
    applies: inProgram,
    find: nestedRepetition,
    except: {},
  },
  {
    id: 'Z-06',
    message: 'JSON.parse has no limits and its errors quote the input (threats N-06, N-08): call src/lib/json.ts',
    applies: inProgram,
    find: code(/(?<![.\w$])JSON\.parse\b/g),
    except: JSON_PARSERS,
  },
  {
    id: 'records',
    message: 'what is stored is read by its definition, which checks each member: src/storage/stored-record.ts',
    applies: inProgram,
    find: code(/\bparseStoredJson\b/g),
    except: JSON_WITHOUT_A_RECORD,
  },
  {
    id: 'records',
    message: 'what is stored is written by its definition, which has the type: src/storage/stored-record.ts',
    applies: inProgram,
    find: code(/(?<![.\w$])Buffer\.from\(\s*JSON\.stringify\(/g),
    except: {
      'src/storage/stored-record.ts': 'the codec',
      'src/crypto/jwt/': 'parts of tokens that are sent',
      'src/rpc/packed.ts': 'calls that are sent to another cluster',
      'src/telemetry/span-exporter.ts': 'a request that is sent',
    },
  },
  {
    id: 'Z-08',
    message: 'console prints what it gets, secrets too: use the log that is handed in',
    applies: inProgram,
    find: code(/(?<![.\w$])console\s*(?:\.|\[)/g),
    except: { 'src/cli/': 'its output is what it is for' },
  },
  {
    id: 'Z-09',
    message: 'files are for storage, audit and configuration, which sync and set modes: go through those',
    applies: inProgram,
    find: importsOf(['node:fs', 'node:fs/promises', 'fs', 'fs/promises']),
    except: FILE_USERS,
  },
  {
    id: 'Z-10',
    message: 'timers are handed in and know the limit of 24.8 days (N-16): take the Timers of src/lib/world.ts',
    applies: inProgram,
    find: anyOf(
      importsOf(TIMER_MODULES, ['setTimeout', 'setInterval', 'scheduler']),
      code(/(?<![.\w$])(?:globalThis\.)?(?:setTimeout|setInterval)\b|(?<![.\w$])AbortSignal\.timeout\b/g),
    ),
    except: {
      'src/lib/world.ts': 'the timers that are handed in',
      'src/client/fetch-transport.ts': 'runs in browsers too, which have no world.ts',
    },
  },
  {
    id: 'Z-10',
    message: 'ticks are handed in, so that a run can be repeated: take the Ticks of src/lib/world.ts',
    applies: inProgram,
    find: anyOf(
      importsOf(TIMER_MODULES, ['setImmediate'], { whole: false }),
      code(/(?<![.\w$])(?:globalThis\.)?setImmediate\b/g),
    ),
    except: YIELDERS,
  },
  {
    id: 'Z-11',
    message: 'memory that was not cleared shows what it held before (threats N-09): use Buffer.alloc',
    applies: inProgram,
    find: code(/\ballocUnsafe(?:Slow)?\b/g),
    except: { 'src/lib/freed-memory.ts': 'takes what was freed, to clear it' },
  },
  {
    id: 'Z-11',
    message: 'the memory behind a Buffer is shared with its neighbours (threats N-09): name offset and length, or copy',
    applies: inProgram,
    find: code(/(?<!\bthis)\.buffer\b(?!,\s*[\w.#]+\.byteOffset,\s*[\w.#]+\.byteLength\b)/g),
    except: {
      'src/http/body-collector.ts': 'asks how large it is, to know what a part holds on to',
      'src/lib/freed-memory.ts': 'takes memory of its own, which shares with no other',
    },
  },
  {
    id: 'Z-12',
    message: 'no text becomes code: neither eval nor new Function nor node:vm',
    applies: inProgram,
    find: anyOf(importsOf(['node:vm', 'vm']), code(/(?<![.\w$])(?:globalThis\.)?(?:eval|Function)\s*\(/g)),
    except: {},
  },
  {
    id: 'Z-12',
    message: 'what is loaded is known at start (threats N-39): import at the head of the file',
    applies: inProgram,
    find: anyOf(
      ({ imports }) => imports.filter((each) => each.dynamic).map((each) => each.line),
      code(/\bcreateRequire\b|\bgetBuiltinModule\b|(?<![.\w$]|async )require\s*\(/g),
    ),
    except: {
      'src/start.js': 'loads the program when the cache of compiled code is on',
      'src/start-thread.js': 'loads what a thread is for, after own-files.js',
      'src/main.ts': 'loads only the part that the command line asks for',
      'src/process/server.ts': 'a server in memory has all in one thread, another one has nothing of it there',
      'src/process/link-host.ts': 'most servers follow no other, and are followed by none',
      'src/threads/link-errors.ts': 'an error that is rare has its class in a file that brings many',
      'src/storage/memory-driver.ts': 'every thread knows the driver, one at most opens such a store',
      'src/storage/sqlite/sqlite-driver.ts': 'a thread loads what it does with a store: reads, writes or checks it',
      'src/storage/sqlite/sqlite-staging.ts': 'a staged store is checked in a thread of its own',
      'src/lib/node-http.ts': 'a module of the runtime, without what an import would load with it',
      'src/managed-keys/pkcs11-binding.ts':
        'what an operator installs who has a device (docs/decisions/0010-pkcs11.md)',
      'src/crypto/pgp.ts': 'a large library that most servers never need (docs/decisions/0005-openpgp.md)',
      'src/crypto/signatures/ecdsa-over-digest.ts': 'the same (docs/decisions/0008-curves-and-ciphers.md)',
    },
  },
  {
    id: 'Z-12',
    message: 'the program starts no other program',
    applies: inProgram,
    find: importsOf(['node:child_process', 'child_process']),
    except: {
      'src/process/device-host.ts': 'native code runs beside the server, not in it (docs/decisions/0010-pkcs11.md)',
    },
  },
  {
    id: 'Z-14',
    message: 'outbound connections have one place that limits them: take the Outbound of src/lib/world.ts',
    applies: inProgram,
    find: anyOf(
      importsOf(['node:http', 'node:https'], ['request', 'get'], { whole: false }),
      // The path to the file differs from room to room.
      importsOf(/(?:^|\/)node-http\.ts$/, ['request']),
      code(/(?<![.\w$])(?:globalThis\.)?fetch\s*\(|\bhttps?\.(?:request|get)\s*\(/g),
    ),
    except: {
      'src/lib/outbound.ts': 'the outbound module',
      'src/cli/': 'the client asks its server',
      'src/client/fetch-transport.ts': 'the library asks its server',
    },
  },
  {
    id: 'drivers',
    message: 'a kind of storage is named in src/storage alone: take storeLocation or storageIn of its drivers.ts',
    applies: inProgram,
    find: anywhere(STORAGE_NAMES),
    except: { 'src/storage/': 'the table of drivers, and the files of its rows' },
  },
  {
    id: 'erasable',
    message: 'the runtime only strips types: a union of string literals instead of an enum',
    applies: everywhere,
    find: code(/(?<![.\w$])enum\s+[\w$]+\s*\{/g),
    except: {},
  },
  {
    id: 'erasable',
    message: 'the runtime only strips types: a file is the namespace',
    applies: everywhere,
    find: code(/(?<![.\w$])(?:namespace|module)\s+[\w$.]+\s*\{/g),
    except: {},
  },
  {
    id: 'erasable',
    message: 'the runtime only strips types: declare the field and assign it in the constructor',
    applies: everywhere,
    find: anyOf(
      code(/\bconstructor\s*\((?:[^)]*,)?\s*(?:private|public|protected|override)\s+[\w$]/g),
      code(/\bconstructor\s*\((?:[^)]*,)?\s*readonly\s+[\w$]+\s*[?:=,)]/g),
    ),
    except: {},
  },
  {
    id: 'refusals',
    message: 'take or add a code that says what was wrong, or give the reason beside it: // bad_request: …',
    applies: inProgram,
    find: stringWithoutReason('bad_request'),
    except: {},
  },
  {
    id: 'tests',
    message: 'a test that is switched off, or switches others off: `{ skip: reason }` with a reason found at run time',
    applies: isTest,
    find: anyOf(
      code(/(?<![.\w$])(?:test|it|describe|suite|t|context)\.(?:only|skip|todo)\s*\(/g),
      code(/[{,]\s*(?:only|skip|todo)\s*:\s*(?:true\b|['"`])/g),
    ),
    except: {},
  },
  {
    id: 'tests',
    message: 'a hook of a fixture is that of the first test file that loads it: export a function that each file calls',
    applies: (path) => isTest(path) && !path.endsWith('.test.ts'),
    find: code(/^(?:before|after|beforeEach|afterEach)\s*\(/gm),
    except: {},
  },
  {
    id: 'exact',
    message: 'a clock decides here: hand in the time, wait by `until`, or make it a proof (test/proofs)',
    applies: isExactTest,
    find: anyOf(
      code(/(?<![.\w$])(?:Date\.now|performance\.now|process\.hrtime|process\.uptime|Temporal\.Now)\b/g),
      code(/(?<![.\w$])Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\(\s*[^\s)])/g),
      code(
        /(?<![.\w$])(?:globalThis\.)?(?:setTimeout|setInterval)\b|(?<![.\w$])(?:AbortSignal\.timeout|Atomics\.wait)\b/g,
      ),
      code(/\brealWorld\(\)\.timers\b|\{[^{}=;]*\btimers\b[^{}=;]*\}\s*=\s*realWorld\(\)/g),
      importsOf(TIMER_MODULES, ['setTimeout', 'setInterval', 'scheduler']),
      importsOf(['node:perf_hooks', 'perf_hooks']),
      importsOf(/\/fixtures\/measured\.ts$/),
    ),
    except: {},
  },
  {
    id: 'exact',
    message: 'what the machine has left decides here: count the work, or make it a proof (test/proofs)',
    applies: isExactTest,
    find: anyOf(
      code(/\b(?:memoryUsage|cpuUsage|threadCpuUsage|resourceUsage|freemem|loadavg|getHeapStatistics)\b/g),
      // The runtime decides when garbage is collected, so these differ from run to run.
      code(/\b(?:WeakRef|FinalizationRegistry|collectGarbage)\b/g),
    ),
    except: {},
  },
  {
    id: 'exact',
    message:
      'a process that runs beside the test makes it a proof (test/proofs); spawnSync of what ends by itself does not',
    applies: isExactTest,
    find: anyOf(
      importsOf(['node:child_process', 'child_process'], ['spawn', 'fork', 'exec', 'execFile']),
      importsOf(/\/fixtures\/server-process\.ts$/, SERVER_STARTERS),
      // It starts the threads too.
      importsOf(/(?:^\.|\/src)\/server\.ts$/, ['startServer']),
      importsOf(PROOF_FIXTURES),
    ),
    except: {},
  },
  {
    id: 'words',
    message: 'the name has a word that docs/glossary.md has a better one for',
    applies: everywhere,
    find: code(RETIRED_WORDS),
    except: {},
  },
  {
    id: 'comments',
    message: 'FIXME stops the merge: mend it',
    applies: everywhere,
    find: comments(/\bFIXME\b/g),
    except: {},
  },
  {
    id: 'comments',
    message: 'what is put off needs an issue: TODO(#n)',
    applies: everywhere,
    find: comments(/\bTODO\b(?!\(#\d+\))/g),
    except: {},
  },
]
