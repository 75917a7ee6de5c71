// Endpoints that use key pairs other than for signing and encrypting.
import { csrEndpoint } from './csr-endpoint.ts'
import { deriveKeyEndpoint } from './derive-key-endpoint.ts'
import { setCertificateEndpoint } from './set-certificate-endpoint.ts'

/** Certificate requests, certificates, key agreement. */
export const KEYPAIR_ENDPOINTS = [csrEndpoint, setCertificateEndpoint, deriveKeyEndpoint]
