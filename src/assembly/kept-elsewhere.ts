// Values that callers made up, on their way from a serving thread to the writing one. They go as bytes, beside the
// requests that are forwarded whole.

import { type ErrorCode, Refusal } from '../api/errors.ts'
import type { WrapInfo } from '../api/request.ts'
import type { Cubbyhole } from '../auth/cubbyhole.ts'
import type { CubbyholeOf, KeptAnswer, KeptValues } from '../auth/kept-values.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import { describeCause } from '../core/describe-cause.ts'
import type { CallWriter } from '../core/engine-context.ts'
import { refusalOf } from '../core/response.ts'

/** Stands in the place of a mount's UUID. */
export const KEPT_MOUNT = 'kept'

type Question =
  | { readonly what: 'entry'; readonly owner: CubbyholeOf; readonly path: string; readonly value: Uint8Array }
  | { readonly what: 'answer'; readonly answer: KeptAnswer }
type Reply =
  | { readonly is: 'kept'; readonly wrapInfo: WrapInfo | undefined }
  | { readonly is: 'refused'; readonly code: ErrorCode; readonly status: number; readonly message: string }
  /** A defect: its name and where it happened, and no value. */
  | { readonly is: 'failed'; readonly cause: string }

/** The log shows only the name of an error, so the reason is put there. */
class NotKept extends Error {
  constructor(cause: string) {
    super('The writing thread kept nothing')
    this.name = `NotKept, for ${cause}`
  }
}

/** On a serving thread: keeps values by asking the writing thread. The refusals of that thread are thrown here. */
export function keptElsewhere(ask: CallWriter): KeptValues {
  const asked = async (question: Question): Promise<WrapInfo | undefined> => {
    const reply = (await ask(KEPT_MOUNT, question)) as Reply
    if (reply.is === 'refused') throw new Refusal(reply.code, reply.status, reply.message)
    if (reply.is === 'failed') throw new NotKept(reply.cause)
    return reply.wrapInfo
  }
  return {
    keep: async (owner, path, value) => {
      await asked({ what: 'entry', owner, path, value })
    },
    keepAnswer: async (answer) => {
      const wrapInfo = await asked({ what: 'answer', answer })
      if (wrapInfo === undefined) throw new NotKept('no token')
      return wrapInfo
    },
  }
}

type Values = {
  readonly cubbyhole: Pick<Cubbyhole, 'keep'>
  readonly wrapping: Pick<Wrapping, 'keepAnswer'>
  readonly primaryAddress: () => string
}

/**
 * On the writing thread: keeps a value. A refusal is sent as data, since an error cannot be thrown at another thread.
 */
export async function answerKept({ cubbyhole, wrapping, primaryAddress }: Values, asked: unknown): Promise<Reply> {
  const question = asked as Question
  try {
    if (question.what === 'answer') return { is: 'kept', wrapInfo: await wrapping.keepAnswer(question.answer) }
    await cubbyhole.keep(question.owner, question.path, question.value)
    return { is: 'kept', wrapInfo: undefined }
  } catch (cause) {
    const refusal = refusalOf(cause, primaryAddress())
    if (refusal === undefined) return { is: 'failed', cause: describeCause(cause) }
    const { code, status, message } = refusal
    return { is: 'refused', code, status, message }
  }
}
