// Requests of the emulator's own tests.
import type { Emulator } from './emulator.ts'
import { SAMPLE } from './sample-plan.ts'

/** An answer with its body parsed. */
export type Answered = {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form, and fail where it is another.
  readonly body: any
}

/** Sends a request. A `body` that is no form is sent as JSON. Redirects are not followed. */
export async function ask(
  url: string,
  options: { method?: string; token?: string; body?: URLSearchParams | object; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const { token, body, method = body === undefined ? 'GET' : 'POST', headers = {} } = options
  const isForm = body === undefined || body instanceof URLSearchParams
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(isForm ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: isForm ? (body ?? null) : JSON.stringify(body),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
}

/** Asks the token endpoint as the sample's key server; `form` replaces fields. */
export function askToken(emulator: Emulator, form: Record<string, string> = {}, tenant: string = SAMPLE.tenant) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: SAMPLE.clientId,
    client_secret: SAMPLE.clientSecret,
    scope: 'https://management.core.windows.net//.default',
    ...form,
  })
  return ask(`${emulator.addresses().authority}/${tenant}/oauth2/v2.0/token`, { body })
}
