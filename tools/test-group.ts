// Runs several test files in one process, one after another: node tools/test-group.ts FILE...
// Each file is loaded when the one before has ended. It is a suite, so that its hooks are its own, and its tests begin
// when all of it was loaded.
import { suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'

for (const path of process.argv.slice(2)) {
  await test(path, () => {
    void suite(path, async () => void (await import(pathToFileURL(path).href)))
  })
}
