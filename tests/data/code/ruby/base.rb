class Base
  def greet(count)
    count
  end
end
