// `node:http`, taken without an import statement. One reads every name that the module has, and reading two of them
// (WebSocket, CloseEvent) loads an HTTP client of its own: some 100 ms and 15 MB in every thread that needs a server.
const http = process.getBuiltinModule('node:http')

export const { Agent, createServer, request, STATUS_CODES } = http
