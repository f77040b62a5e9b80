import * as Processes from "./processes.ts"

/** The service that accepts, on the mail of a folder of its own. */
export const start = (databaseUrl: string, data: string): Promise<Processes.Server> =>
  Processes.start("service.ts", { DATABASE_URL: databaseUrl, WAYBILL_DATA: data, LOG_LEVEL: "Warn" })

/** The domain that the messages come from; its name is a reserved one, so it is verified at once. */
export const addDomain = async ({ port }: Processes.Server, key: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/domains`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "acme.test" }),
  })
  if (response.status !== 201) throw new Error(`the domain was not added: ${await response.text()}`)
}
