import { Context, Effect } from "effect"
import { type CellName, FIRST } from "./CellName.ts"

/** The cell whose tables the statements of a fiber use: home, except in the work of `inCell`, which alone changes it. */
export const CurrentCell = Context.Reference<CellName>("@waybill/store/routing/CurrentCell", {
  defaultValue: () => FIRST,
})

/** The cell in which a transaction of a fiber has begun. */
export const TransactionCell = Context.Reference<CellName | undefined>(
  "@waybill/store/routing/CurrentCell/TransactionCell",
  {
    defaultValue: () => undefined,
  },
)

/** Runs work on the tables of a cell. Inside a transaction of another cell that is a bug: its statements would stay there. */
export const inCell = <A, E, R>(cell: CellName, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (fiber.getRef(CurrentCell) === cell) return work
    const transaction = fiber.getRef(TransactionCell)
    return transaction === undefined || transaction === cell
      ? Effect.provideService(work, CurrentCell, cell)
      : Effect.die(new Error(`a transaction of the cell ${transaction} cannot use the cell ${cell}`))
  })
