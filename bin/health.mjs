// Health check of the container: exits with 0 if the process is ready to serve, on its metrics port or its HTTP port.
const port = process.env.METRICS_PORT ?? process.env.PORT ?? "3025"
const signal = AbortSignal.timeout(4_000)
const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch((error) => error)
if (response instanceof Response && response.ok) process.exit(0)
process.stderr.write(`${response instanceof Response ? await response.text() : response.message}\n`)
process.exit(1)
