// What bin/keywright starts: the program, with the compiled code of earlier starts. compile-cache.js says why this is
// JavaScript.
import { keepCompiledCode } from './compile-cache.js'

keepCompiledCode()
// Not at the head of the file: it would be loaded before.
await import('./main.ts')
