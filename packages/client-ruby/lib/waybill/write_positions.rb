# frozen_string_literal: true

module Waybill
  # Positions of the last writes.
  #
  # Positions cannot be compared, and responses may arrive out of order. A write replaces the positions that it sent
  # when it began; positions of concurrent writes are all kept.
  class WritePositions
    # Header with the position of a write, in responses of a service with read replicas. Later requests send it back so
    # that reads include the write.
    HEADER = "X-Waybill-Position"
    # The service accepts no more.
    MAXIMUM = 16

    def initialize
      @lock = Mutex.new
      @writes = 0
      @positions = []
    end

    # Returns the number of writes so far, and the header of a request that begins now.
    def begin
      @lock.synchronize { [@writes, @positions.map(&:last).join(",")] }
    end

    def add(begun, position)
      return if position.nil?

      @lock.synchronize do
        @writes += 1
        concurrent = @positions.select { |write, _| write > begun }
        @positions = [*concurrent, [@writes, position]].last(MAXIMUM)
      end
    end
  end
end
