package zoo;

import java.util.List;

interface Pet { String name(); }

class Dog extends Animal implements Pet {
    private final List<String> tricks;
    Dog(List<String> tricks) { this.tricks = tricks; }
    String sound() { return "woof"; }
    public String name() { return speak(); }
    static Dog make() { return new Dog(null); }
}
