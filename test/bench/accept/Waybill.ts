import * as Processes from "./Processes.ts"

/** Starts the service without its worker, with a data folder of its own, and with other settings than the defaults. */
export const start = (
  databaseUrl: string,
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Processes.Server> =>
  Processes.start("service.ts", { DATABASE_URL: databaseUrl, WAYBILL_DATA: data, LOG_LEVEL: "Warn", ...settings })

/** Adds the sending domain; its name is reserved, so it is verified at once. */
export const addDomain = async ({ port }: Processes.Server, key: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/domains`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "acme.test" }),
  })
  if (response.status !== 201) throw new Error(`the domain was not added: ${await response.text()}`)
}
