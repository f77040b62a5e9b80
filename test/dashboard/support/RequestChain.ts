import type { CDPSession } from "playwright-core"

interface Initiator {
  readonly type: string
  readonly url?: string
  readonly stack?: {
    readonly callFrames: ReadonlyArray<{ readonly url: string }>
    readonly parent?: Initiator["stack"]
  }
}

/**
 * Follows which response made the browser send each request. What is known only from a response waits for it, however
 * quick the machine is, so the depth of a page says how many times it waits for the network.
 */
export const follow = (devtools: CDPSession) => {
  const initiators = new Map<string, Initiator>()
  let page = ""
  devtools.on("Network.requestWillBeSent", ({ documentURL, initiator, request, type }) => {
    if (type === "Document") {
      page = documentURL
      initiators.clear()
    }
    initiators.set(request.url, initiator as Initiator)
  })
  const depthOf = (url: string): number => {
    const initiator = initiators.get(url)
    if (url === page || initiator === undefined) return 1
    return 1 + Math.max(...causes(initiator).map((cause) => (cause === url ? 0 : depthOf(cause))))
  }
  /** Addresses of the scripts that sent a request; the page, if its text or its own script did. */
  const causes = ({ stack, url }: Initiator): ReadonlyArray<string> => {
    const frames: Array<string> = []
    for (let each = stack; each !== undefined; each = each.parent)
      frames.push(...each.callFrames.map((frame) => frame.url).filter((script) => initiators.has(script)))
    return frames.length > 0 ? frames : [url !== undefined && initiators.has(url) ? url : page]
  }
  return {
    /** Returns the depth of each request of the page by path and query: 1 for the page, 2 for what it names itself. */
    depths: (): ReadonlyMap<string, number> =>
      new Map([...initiators.keys()].map((url) => [pathOf(url), depthOf(url)])),
  }
}

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url)
  return pathname + search
}
