// What Medusa's provider takes from its framework, which is 194 MB and under two licences: a base class and an error.

export class AbstractNotificationProviderService {
  send(): Promise<object> {
    return Promise.reject(new Error("a provider has its own send"))
  }
}

export class MedusaError extends Error {
  static readonly Types = { INVALID_DATA: "invalid_data", UNEXPECTED_STATE: "unexpected_state" }
  readonly type: string

  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}
