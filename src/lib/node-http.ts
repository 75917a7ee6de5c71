// The runtime's HTTP. An `import` of node:http reads every name that it exports, and one of them loads the whole of the
// runtime's own `fetch`, which nothing here uses: 45 ms of CPU and 16 MiB in every process, and in every thread again.

const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

export const { Agent: HttpAgent, createServer, request: requestHttp, STATUS_CODES } = http
export const { Agent: HttpsAgent, createServer: createSecureServer, request: requestHttps } = https
