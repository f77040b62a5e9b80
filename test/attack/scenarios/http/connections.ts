import { sendRequest, hangUp, open, openMany } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep } from "../../harness/Scenario.ts"

const PER_ADDRESS = 150
const SETTLED_MS = 500

/** Opens idle connections, first from one address and then from many. */
export const connections: Scenario = {
  name: "many HTTP connections",
  load: "idle connections of one address, then of many",
  run: async ({ from, size, target }) => {
    const [ofOne, inAll] = [size(1_500, 3_000), size(1_000, 4_000)]
    const isApart = from(0) !== undefined
    const one = await openMany(ofOne, () => open(target.http, { from: from(0) }))
    await sleep(SETTLED_MS)
    const keptOfOne = one.filter(({ closed }) => !closed()).length
    const concurrent = await sendRequest(target.http, "GET", "/healthz", { from: from(1), within_ms: 5_000 })
    hangUp(one)
    await sleep(SETTLED_MS)
    const many = await openMany(inAll, (nth) => open(target.http, { from: from(2 + Math.floor(nth / PER_ADDRESS)) }))
    await sleep(SETTLED_MS)
    const keptOfMany = many.filter(({ closed }) => !closed()).length
    hangUp(many)
    await sleep(SETTLED_MS)
    const after = await sendRequest(target.http, "GET", "/healthz", { from: from(1), within_ms: 5_000 })
    return {
      summary: `${keptOfOne} of ${ofOne} kept for one address, ${keptOfMany} of ${inAll} for many; another address ${concurrent.status}, afterwards ${after.status}`,
      failures: failedExpectations([
        [keptOfOne < ofOne, "one address may have all connections"],
        [!isApart || concurrent.status === 200, "another address gets no answer meanwhile"],
        [after.status === 200, "no answer after the connections were closed"],
      ]),
    }
  },
}
