import * as Processes from "./processes.ts"

const MAIN = "../../../apps/server/src/main.ts"

/** The service that accepts; delivering is another process's work, as the floors deliver nothing either. */
export const start = (databaseUrl: string, data: string): Promise<Processes.Server> =>
  Processes.start(
    MAIN,
    ["start"],
    { DATABASE_URL: databaseUrl, WAYBILL_DATA: data, PORT: "0", TRANSPORT: "capture", LOG_LEVEL: "Warn" },
    (line) => Number(/http:\/\/[^\s/]+:(\d+)/u.exec(line)?.[1]) || undefined,
  )

/** The domain that the messages come from; its name is a reserved one, so it is verified at once. */
export const addDomain = async ({ port }: Processes.Server, key: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/domains`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "acme.test" }),
  })
  if (response.status !== 201) throw new Error(`the domain was not added: ${await response.text()}`)
}
