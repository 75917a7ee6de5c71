// `node:http`, taken without an import statement. An import reads every name of the module, and reading two of them
// (WebSocket, CloseEvent) loads a whole HTTP client: some 100 ms and 15 MB in every thread that needs a server.
const http = process.getBuiltinModule('node:http')

/** The names that the program uses; add others here, never by an import. */
export const { Agent, createServer, request, STATUS_CODES } = http
