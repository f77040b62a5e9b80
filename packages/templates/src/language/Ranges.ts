import * as Library from "liquidjs"
import * as Counting from "./Counting.ts"

/** An end of a range, as the library evaluates what has filters. Its parts stay known to those who look for variables. */
class RangeEnd extends Library.Token {
  readonly filters: ReadonlyArray<never> = []
  readonly initial: {
    readonly postfix: ReadonlyArray<Library.Token>
    readonly evaluate: (context: Library.Context) => unknown
  }

  constructor(token: Library.Token & Parameters<typeof Library.evalToken>[0]) {
    super(Library.TokenKind.FilteredValue, token.input, token.begin, token.end, token.file)
    this.initial = {
      postfix: [token],
      *evaluate(context): Generator<unknown, number, unknown> {
        const value = yield* Library.evalToken(token, context)
        Counting.countRead(context, value)
        const end = Number(Library.toValue(value))
        if (Math.abs(end) > Number.MAX_SAFE_INTEGER) throw new Error("has a range of numbers that cannot be counted")
        return end
      },
    }
  }
}

/** The library counts from one end of a range to the other by ones, and never ends where a number and its next are the same. */
export const bound = (): void => {
  const { prototype } = Library.Tokenizer
  const read = prototype.readGroupOrRange
  prototype.readGroupOrRange = function () {
    const token = read.call(this)
    if (token === undefined || !Library.TypeGuards.isRangeToken(token)) return token
    token.lhs = new RangeEnd(token.lhs) as never
    token.rhs = new RangeEnd(token.rhs) as never
    return token
  }
}
