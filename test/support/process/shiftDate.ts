/** Shifts the wall clock of this process. Timers and the monotonic clock are not shifted, as when an operator sets the time. */
export const shiftDate = (offset: () => number): void => {
  const Real = globalThis.Date
  const now = Real.now.bind(Real)
  Real.now = () => now() + offset()
  const Shifted = new Proxy(Real, {
    construct: (target, args, as) => Reflect.construct(target, args.length === 0 ? [Real.now()] : args, as) as Date,
    apply: () => new Real(Real.now()).toString(),
  })
  Real.prototype.constructor = Shifted
  globalThis.Date = Shifted
}
