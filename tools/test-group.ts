// The entry of a process in which several test files run, one after another: node tools/test-group.ts FILE...
// Each file is a suite with its path as the name, so that its hooks are its own.
import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'

for (const path of process.argv.slice(2)) describe(path, async () => void (await import(pathToFileURL(path).href)))
