// Encrypts a text with a key that stays on the server, and decrypts it again.
import { ApiError, Keywright } from 'keywright/client'

const { VAULT_ADDR: address = 'http://127.0.0.1:8200', VAULT_TOKEN: token } = process.env
const kw = new Keywright({ address, token })

const name = 'example-orders'
await kw.write('sys/mounts/:path...', { path: 'transit', type: 'transit' }).catch((error) => {
  // It may be mounted already.
  if (!(error instanceof ApiError && error.messages.some((message) => message.includes('in use')))) throw error
})
await kw.write('transit/keys/:name', { name, type: 'aes256-gcm96' })

const { ciphertext = '' } = await kw.write('transit/encrypt/:name', { name, plaintext: btoa('two of them, in blue') })
const { plaintext = '' } = await kw.write('transit/decrypt/:name', { name, ciphertext })
console.log(atob(plaintext))
