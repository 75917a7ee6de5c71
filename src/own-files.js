// Tells the runtime at once where a file of the program lies that another file imports by a relative path. The runtime
// itself would look for each on the disk and follow every link on the way. That takes 0.3 ms a file in every thread
// that loads it, and was a fifth of a start. Packages, and what they import, are left to the runtime.
//
// JavaScript, as start.js is: it runs before the rest.
import { registerHooks } from 'node:module'

const HOME = new URL('.', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    const extension = /^\.\.?\/.*\.([jt]s)$/.exec(specifier)?.[1]
    if (extension === undefined || !parentURL?.startsWith(HOME)) return next(specifier, context)
    const format = extension === 'ts' ? 'module-typescript' : 'module'
    return { url: new URL(specifier, parentURL).href, format, shortCircuit: true }
  },
})
