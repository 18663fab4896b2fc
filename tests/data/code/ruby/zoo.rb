require_relative "base"

module Zoo
  LEGS = 4

  class Dog < Base
    attr_reader :name

    def initialize(name)
      @name = name
    end

    def speak
      greet(LEGS)
    end

    def self.make
      Dog.new("rex")
    end
  end
end
