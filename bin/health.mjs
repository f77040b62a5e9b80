// What a container's health check runs: ends with 0 while this process can serve, on whichever port it says so.
const port = process.env.METRICS_PORT ?? process.env.PORT ?? "3025"
const patience = AbortSignal.timeout(4_000)
const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: patience }).catch((error) => error)
if (answer instanceof Response && answer.ok) process.exit(0)
process.stderr.write(`${answer instanceof Response ? await answer.text() : answer.message}\n`)
process.exit(1)
