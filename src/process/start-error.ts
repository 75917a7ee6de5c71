/** Why a server did not start, in one sentence. */
export class StartError extends Error {
  override name = 'StartError'
}
