/** Selector of a query: the metric, and the labels that it matches on. */
export interface Selector {
  readonly metric: string
  readonly labels: ReadonlyArray<string>
}
export interface Query {
  readonly selectors: ReadonlyArray<Selector>
  /** Labels that the query groups by. */
  readonly groupedBy: ReadonlyArray<string>
}

const AGGREGATES = new Set(["sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile"])
/** Kinds of the arguments of each function. */
const FUNCTIONS: Readonly<Record<string, ReadonlyArray<"instant" | "range" | "number">>> = {
  rate: ["range"],
  increase: ["range"],
  deriv: ["range"],
  predict_linear: ["range", "number"],
  histogram_quantile: ["number", "instant"],
}
const NUMBERED = new Set(["topk", "bottomk", "quantile"])
/** Operators in ascending precedence. */
const OPERATORS = [["or"], ["and", "unless"], ["==", "!=", ">=", "<=", ">", "<"], ["+", "-"], ["*", "/", "%"]]
const TOKEN =
  /\s*(?:("(?:\\.|[^"\\])*")|(\[[^\]]*\])|(\d+(?:\.\d+)?(?:e\d+)?)|([a-z_:][\w:]*)|(==|!=|>=|<=|=~|!~|[(){},=<>+\-*/%]))/iuy
const RANGE = /^\[(?:\d+(?:ms|[smhdwy])|\$__rate_interval)\]$/u

/** Parses the subset of PromQL that the dashboard and alerts use, and throws on anything else. */
export const parse = (text: string): Query => {
  const tokens: Array<string> = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (match === null) throw new Error(`not PromQL from: ${text.slice(from)}`)
    tokens.push(match[0].trim())
  }
  const selectors: Array<Selector> = []
  const groupedBy: Array<string> = []
  let at = 0
  const fail = (why: string): never => {
    throw new Error(`${why}, at ${tokens.slice(at, at + 4).join(" ")} in: ${text}`)
  }
  const take = (expected?: string): string => {
    const token = tokens[at++]
    if (token === undefined || (expected !== undefined && token !== expected))
      return fail(`expected ${expected ?? "more"}`)
    return token
  }
  const isNext = (token: string) => tokens[at] === token

  const names = (): ReadonlyArray<string> => {
    const names: Array<string> = []
    take("(")
    while (!isNext(")")) {
      const name = take()
      if (!/^[a-z_]\w*$/iu.test(name)) fail(`no label: ${name}`)
      names.push(name)
      if (!isNext(")")) take(",")
    }
    take(")")
    return names
  }

  const grouping = () => {
    if (!isNext("by") && !isNext("without")) return
    take()
    groupedBy.push(...names())
  }

  const selector = (metric: string): "instant" | "range" => {
    const labels: Array<string> = []
    if (isNext("{")) {
      take()
      while (!isNext("}")) {
        labels.push(take())
        const operator = take()
        if (!["=", "!=", "=~", "!~"].includes(operator)) fail(`no matcher: ${operator}`)
        const value = take()
        if (!value.startsWith('"')) fail(`not quoted: ${value}`)
        if (operator.endsWith("~")) RegExp(JSON.parse(value) as string, "u")
        if (!isNext("}")) take(",")
      }
      take("}")
    }
    selectors.push({ metric, labels })
    if (tokens[at]?.startsWith("[") !== true) return "instant"
    const range = take()
    if (!RANGE.test(range)) fail(`no range: ${range}`)
    return "range"
  }

  const primary = (): "instant" | "range" | "number" => {
    const token = take()
    if (token === "(") {
      const kind = expression(0)
      take(")")
      return kind
    }
    if (/^\d/u.test(token)) return "number"
    if (!/^[a-z_:]/iu.test(token)) return fail(`not expected: ${token}`)
    if (AGGREGATES.has(token)) {
      grouping()
      take("(")
      if (NUMBERED.has(token)) {
        if (expression(0) !== "number") fail(`${token} begins with a number`)
        take(",")
      }
      if (expression(0) !== "instant") fail(`${token} takes no range`)
      take(")")
      grouping()
      return "instant"
    }
    if (!isNext("(")) return selector(token)
    const wanted = FUNCTIONS[token] ?? fail(`no function of ours: ${token}`)
    take("(")
    wanted.forEach((kind, nth) => {
      if (nth > 0) take(",")
      if (expression(0) !== kind) fail(`argument ${nth + 1} of ${token} is to be of kind ${kind}`)
    })
    take(")")
    return "instant"
  }

  const expression = (level: number): "instant" | "range" | "number" => {
    const operators = OPERATORS[level]
    if (operators === undefined) return primary()
    let left = expression(level + 1)
    while (operators.includes(tokens[at] ?? "")) {
      const operator = take()
      const right = expression(level + 1)
      if (left === "range" || right === "range") fail(`${operator} takes no range`)
      left = left === "number" && right === "number" ? "number" : "instant"
    }
    return left
  }

  if (expression(0) !== "instant") fail("a query has to end in a vector")
  if (at < tokens.length) fail("more than a query")
  return { selectors, groupedBy }
}
