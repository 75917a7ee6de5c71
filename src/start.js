// What bin/keywright starts: the program, with the compiled code of earlier starts. Why it is JavaScript says
// compile-cache.js.
import { keepCompiledCode } from './compile-cache.js'

keepCompiledCode()
// Not at the head of the file: they would be loaded before.
await import('./own-files.js')
await import('./main.ts')
