interface ServerSentEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** Parses server-sent events. `EventSource` cannot be used: it sends no custom headers. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough<string>(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    let end = text.indexOf("\n\n")
    while (end >= 0) {
      const fields = new Map(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]),
      )
      yield { event: fields.get("event") ?? "message", id: fields.get("id") ?? "", data: fields.get("data") ?? "" }
      text = text.slice(end + 2)
      end = text.indexOf("\n\n")
    }
  }
}
