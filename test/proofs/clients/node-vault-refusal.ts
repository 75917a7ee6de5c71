// What the client node-vault makes of a refusal.
import { strict as assert } from 'node:assert'

/** True of the error that it makes of such an answer: our first sentence as its message, the status beside it. */
export function isRefusal(statusCode: number, words = ''): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Error && 'response' in error, String(error))
    const { statusCode: got, body } = error.response as { statusCode: number; body: { errors: string[] } }
    assert.equal(got, statusCode, error.message)
    assert.ok(Array.isArray(body.errors))
    if (body.errors.length > 0) assert.equal(error.message, body.errors[0])
    assert.ok(error.message.includes(words), `${error.message} does not say ${words}`)
    return true
  }
}
