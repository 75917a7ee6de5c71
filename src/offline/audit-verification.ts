// Reads audit logs for the client, which knows nothing of audit.
import { Verification } from '../audit/verify.ts'
import { CliError } from '../cli/cli-error.ts'
import type { VerifyAudit } from '../cli/io.ts'

const NEWLINE = 0x0a

/**
 * Checks the lines of all files in their order. The files are read in pieces, as they come, and never held as a whole.
 * @throws CliError if the public key is not one
 */
export const verifyAudit: VerifyAudit = async (files, options) => {
  const verification = begun(options)
  for (const { name, parts } of files) {
    let number = 0
    let rest: Buffer[] = []
    for await (const part of parts) {
      let from = 0
      for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, from)) {
        rest.push(part.subarray(from, end))
        verification.take(rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest), `${name}:${++number}`)
        rest = []
        from = end + 1
      }
      if (from < part.length) rest.push(part.subarray(from))
    }
    if (rest.length > 0) verification.take(Buffer.concat(rest), `${name}:${++number}`)
  }
  return verification.finish()
}

function begun(options: Parameters<VerifyAudit>[1]): Verification {
  try {
    return new Verification(options)
  } catch (cause) {
    throw new CliError(cause instanceof Error ? cause.message : 'the public key is none')
  }
}
