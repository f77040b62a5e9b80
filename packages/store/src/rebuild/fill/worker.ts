import module from "node:module"
import { workerData } from "node:worker_threads"
import type { ThreadData } from "./FoldThread.ts"

// Compiled code of the process, which would take longer to compile than a thread takes to fold a slice.
const { compileCache } = workerData as ThreadData
if (compileCache !== undefined) module.enableCompileCache(compileCache)
const { serve } = await import("./FoldServer.ts")
await serve(workerData as ThreadData)
