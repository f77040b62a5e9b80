/** Packages of all kinds are called, each by what its README says. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Package = any

const FILE = Buffer.from([0, 10, 13, 200, 255])

export interface Mail {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly file?: Buffer
}

export interface Client {
  readonly name: string
  readonly send: (mail: Mail) => Promise<unknown>
  readonly batch?: (mails: ReadonlyArray<Mail>) => Promise<unknown>
  /** Why no file can be sent. */
  readonly fileless?: boolean
}

const outcome = (made: Promise<unknown>) =>
  made.then(
    () => "sent",
    ({ cause, message, response }: Package) =>
      String(response?.body?.errors?.[0].message ?? cause?.data?.message ?? cause?.data?.Message ?? message),
  )

/** Sends with every client and prints what each made of it. */
export const report = async (clients: ReadonlyArray<Client>): Promise<void> => {
  for (const { batch, fileless, name, send } of clients) {
    const mail = { from: "hi@acme.test", to: "ana@example.org", subject: `${name}.test`, text: "Hello" }
    console.log(
      JSON.stringify({
        name,
        send: await outcome(send({ ...mail, ...(fileless !== true && { file: FILE }) })),
        ...(batch && { batch: await outcome(batch([mail, { ...mail, to: "bo@example.org" }])) }),
        refused: await outcome(send({ ...mail, from: "hi@elsewhere.test" })),
      }),
    )
  }
}
