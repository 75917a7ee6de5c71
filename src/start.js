// The entry that bin/keywright starts: the program, with the compiled code of earlier starts. Why this is JavaScript:
// compile-cache.js.
import { keepCompiledCode } from './compile-cache.js'

keepCompiledCode()
// Not imports at the top of the file: those would be loaded before the call above.
await import('./own-files.js')
await import('./main.ts')
